
/* ---- removed from MPI in 2012 (MPI 3.0), kept so that old programs compile: the calls that replaced them under the old names.
 * MPI_LB and MPI_UB are gone for good (MPI_Type_create_resized replaces them). ---- */
#if defined(__GNUC__)
#define MPI_REMOVED_(instead) __attribute__((unused, deprecated("removed in MPI 3.0: use " instead)))
#else
#define MPI_REMOVED_(instead)
#endif
typedef MPI_Comm_errhandler_function MPI_Handler_function;
/* The names that MPI 2.2 deprecated, without a warning: PETSc's configure takes a library that lacks them for one of MPI 1. */
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
MPI_REMOVED_("MPI_Get_address") static __inline int MPI_Address(void *location, MPI_Aint *address)
{
    return MPI_Get_address(location, address);
}
MPI_REMOVED_("MPI_Type_create_hvector")
static __inline int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}
MPI_REMOVED_("MPI_Type_create_hindexed")
static __inline int MPI_Type_hindexed(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[],
                                      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return MPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
}
MPI_REMOVED_("MPI_Type_create_struct")
static __inline int MPI_Type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[],
                                    MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    return MPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}
MPI_REMOVED_("MPI_Type_get_extent") static __inline int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;
    return MPI_Type_get_extent(datatype, &lb, extent);
}
MPI_REMOVED_("MPI_Type_get_extent") static __inline int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    return MPI_Type_get_extent(datatype, displacement, &extent);
}
MPI_REMOVED_("MPI_Type_get_extent") static __inline int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint lb;
    int rc = MPI_Type_get_extent(datatype, &lb, displacement);
    if (rc == MPI_SUCCESS) *displacement += lb;
    return rc;
}
MPI_REMOVED_("MPI_Comm_create_errhandler")
static __inline int MPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler)
{
    return MPI_Comm_create_errhandler(function, errhandler);
}
MPI_REMOVED_("MPI_Comm_get_errhandler") static __inline int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return MPI_Comm_get_errhandler(comm, errhandler);
}
MPI_REMOVED_("MPI_Comm_set_errhandler") static __inline int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return MPI_Comm_set_errhandler(comm, errhandler);
}
