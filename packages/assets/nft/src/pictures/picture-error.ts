import { defineApiError } from '@chainstead/http';

export class PictureUnknownError extends defineApiError('PICTURE_UNKNOWN', () => ({
  status: 404,
  message: 'The indexed metadata of this token has no image',
})) {}

/** The picture could not be fetched, or its type is not served. A 404: untrusted metadata can cause any number of them. */
export class PictureUnreadableError extends defineApiError(
  'PICTURE_UNREADABLE',
  (reason: string, cause?: unknown) => ({
    status: 404,
    message: `The image can't be shown: ${reason}`,
    cause,
  }),
) {}

/** This process is reading its maximum of pictures, and its queue is full. */
export class PicturesBusyError extends defineApiError('PICTURES_BUSY', () => ({
  status: 503,
  message: 'Too many images are being fetched: retry in a moment',
  headers: { 'retry-after': '1' },
  retryable: true,
})) {}
