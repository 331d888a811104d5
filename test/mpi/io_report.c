/* io_report.c -- accesses to a file of which test/system/io_report.sh knows how many there are: io_report FILE.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io_check.h"

enum { N = 50000 };
static unsigned char data[N], back[N];

int main(int argc, char **argv)
{
    files_begin(&argc, &argv);
    const char *name = argc > 1 ? argv[1] : in_folder("report");
    MPI_File f;
    MPI_Info info;
    MPI_Datatype mine;
    pattern_fill(data, N, (unsigned)rank);
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    for (int i = 0; i < 3; i++)
        OK(MPI_File_write_at(f, 3000 * rank + 1000 * i, data + 1000 * i, 1000, MPI_BYTE, MPI_STATUS_IGNORE));
    if (rank == 0) OK(MPI_File_read_at(f, 500, back, 500, MPI_BYTE, MPI_STATUS_IGNORE));
    if (rank == 0) OK(MPI_File_read_at(f, 2000, back + 500, 500, MPI_BYTE, MPI_STATUS_IGNORE));
    if (rank == 0) CHECK(memcmp(back, data + 500, 500) == 0 && memcmp(back + 500, data + 2000, 500) == 0);
    /* Pieces of 100 bytes of all ranks in turn, from byte 1 MiB on. */
    MPI_Type_vector(N / 100, 100, 100 * size, MPI_BYTE, &mine);
    MPI_Type_commit(&mine);
    OK(MPI_File_set_view(f, (1 << 20) + 100 * rank, MPI_BYTE, mine, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(f, 0, data, N, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(f, 0, back, N, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_EQ(memcmp(back, data, N), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Rank 0 writes 20 pieces back with what lies between them. */
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_ds_write", "enable");
    OK(MPI_File_set_info(f, info));
    MPI_Info_free(&info);
    if (rank == 0) OK(MPI_File_write_at(f, 0, data, 2000, MPI_BYTE, MPI_STATUS_IGNORE));
    /* It reads them in one piece, or in several, as ind_rd_buffer_size says. */
    memset(back, 0, 2000);
    if (rank == 0) OK(MPI_File_read_at(f, 0, back, 2000, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(rank != 0 || memcmp(back, data, 2000) == 0);
    OK(MPI_File_close(&f));
    MPI_Type_free(&mine);
    file_remove(name);
    return files_end();
}
