import { ApiError, type InvalidParameterError } from '@chainstead/http';

/** The text of the hosted API for an invalid cursor; other contradictions name their parameter. */
export function refuseCursor(error: InvalidParameterError): Error {
  if (!error.message.startsWith('cursor ')) return error;
  const { details = {} } = error;
  return new ApiError({ code: 'INVALID_PARAMETER', status: 400, message: 'Cursor is invalid or expired', details });
}
