/**
 * The files of `db/data_set` that determine a data set: from the same source files, the same of these make the same tables.
 * They are named without `.sql`, in the order in which they run.
 */
export const dataSetFiles = ["staging", "check", "build", "indexes", "fingerprints", "totals"];
