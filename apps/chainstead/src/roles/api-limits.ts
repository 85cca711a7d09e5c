/** Room for the 50,000 addresses that a stream takes at once. */
export const BODY_BYTES_MAX = 4_194_304;
export const REQUEST_TIMEOUT_MS = 30_000;
