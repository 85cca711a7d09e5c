/** For one statement's result for a request, and of one JSON response. Both are in memory as a whole. */
export const RESULT_BYTES_MAX = 8_388_608;

/** For a page of one row, which can't have fewer. The row after it is read as well. */
export const ROW_BYTES_MAX: number = 4 * RESULT_BYTES_MAX;
