import { ApiError, type InvalidParameterError } from '@chainstead/http';

/** Maps the error for an invalid cursor to the text of the hosted API; other contradictions name their parameter. */
export function refuseCursor(error: InvalidParameterError): Error {
  const isOfCursor = error.message.startsWith('cursor ');
  return isOfCursor
    ? new ApiError({
        code: 'INVALID_PARAMETER',
        status: 400,
        message: 'Cursor is invalid or expired',
        details: error.details ?? {},
      })
    : error;
}
