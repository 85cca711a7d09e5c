/** A statement's result, or a JSON response: both are in memory as a whole. */
export const RESULT_BYTES_MAX = 8_388_608;

/** A page of one row, which can't have fewer; the row after it is read too. */
export const ROW_BYTES_MAX: number = 4 * RESULT_BYTES_MAX;
