/* Golden sample of gen/shmem_entries.py: entry points of several kinds.  Never compiled. */
void pshmem_int_p(int *dest, int value, int pe)
{
    struct sym_spot s = {.addr = dest, .pe = pe};
    if (likely(face_find(SYM_CTX_DEFAULT, &s))) {
        __atomic_store_n((int *)s.at, value, __ATOMIC_RELAXED);
    } else {
        face_p_far(s.addr, (uint32_t)value, s.pe, "shmem_int_p", SYM_CTX_DEFAULT, sizeof(int));
    }
}
FACE_WEAK(shmem_int_p, pshmem_int_p);

double pshmem_ctx_double_g(shmem_ctx_t ctx, const double *source, int pe)
{
    struct sym_spot s = {.addr = source, .pe = pe};
    if (likely(face_find((sym_ctx_id)ctx, &s))) return *(double *)s.at;
    return face_double(face_g_far(s.addr, s.pe, "shmem_ctx_double_g", (sym_ctx_id)ctx, sizeof(double)));
}
FACE_WEAK(shmem_ctx_double_g, pshmem_ctx_double_g);

void pshmem_put32_nbi(void *dest, const void *source, size_t nelems, int pe)
{
    face_put("shmem_put32_nbi", SYM_CTX_DEFAULT, dest, source, face_bytes(nelems, 4), 4, pe, true);
}
FACE_WEAK(shmem_put32_nbi, pshmem_put32_nbi);

long pshmem_long_atomic_fetch_add(long *dest, long value, int pe)
{
    return (long)face_atomic("shmem_long_atomic_fetch_add", SYM_CTX_DEFAULT, (struct sym_atomic){SYM_AMO_ADD, sizeof(long), dest, (uint64_t)value, 0}, pe);
}
FACE_WEAK(shmem_long_atomic_fetch_add, pshmem_long_atomic_fetch_add);

void pshmem_float_put_signal(float *dest, const float *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
{
    face_put_signal("shmem_float_put_signal", SYM_CTX_DEFAULT, (struct face_data){dest, source, face_bytes(nelems, sizeof(float)), sizeof(float)}, (struct sym_signal){sig_addr, signal, face_is_add("shmem_float_put_signal", sig_op)}, pe, false);
}
FACE_WEAK(shmem_float_put_signal, pshmem_float_put_signal);

void pshmem_broadcast64(void *dest, const void *source, size_t nelems, int PE_root, int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    (void)pSync;
    face_bcast_set("shmem_broadcast64", face_set("shmem_broadcast64", PE_start, logPE_stride, PE_size), (struct face_data){dest, source, face_bytes(nelems, 8), 8}, PE_root);
}
FACE_WEAK(shmem_broadcast64, pshmem_broadcast64);

void pshmem_longlong_and_to_all(long long *dest, const long long *source, int nreduce, int PE_start, int logPE_stride, int PE_size, long long *pWrk, long *pSync)
{
    (void)pWrk;
    (void)pSync;
    face_reduce("shmem_longlong_and_to_all", face_set("shmem_longlong_and_to_all", PE_start, logPE_stride, PE_size), SYM_OP_AND, GW_ELEM_I64, dest, source, face_count("shmem_longlong_and_to_all", nreduce));
}
FACE_WEAK(shmem_longlong_and_to_all, pshmem_longlong_and_to_all);

size_t pshmem_int_wait_until_any_vector(int *ivars, size_t nelems, const int *status, int cmp, const int *cmp_values)
{
    struct sym_wait w = {.vars = ivars, .elem = GW_ELEM_I32, .cmp = (enum sym_cmp)cmp, .n = nelems, .status = status, .values = cmp_values, .how = SYM_ANY, .is_vector = true};
    return godwit_sym_wait("shmem_int_wait_until_any_vector", &w);
}
FACE_WEAK(shmem_int_wait_until_any_vector, pshmem_int_wait_until_any_vector);

int pshmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team)
{
    struct sym_split split = {(const struct sym_team_config *)config, config_mask, (sym_team_id *)new_team};
    return godwit_sym_team_split("shmem_team_split_strided", (sym_team_id)parent_team, start, stride, size, split);
}
FACE_WEAK(shmem_team_split_strided, pshmem_team_split_strided);
