import { ApiError, type InvalidParameterError } from '@chainstead/http';

/** Texts of the hosted API for an invalid cursor; others name their parameter. */
export function refuseCursor(error: InvalidParameterError): Error {
  if (!error.message.startsWith('cursor ')) return error;
  const { details = {} } = error;
  return new ApiError({
    code: 'INVALID_PARAMETER',
    status: 400,
    message: 'Cursor is invalid or expired',
    details,
  });
}
