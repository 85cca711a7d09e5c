import { ApiError } from '@chainstead/http';

/** A 404: indexed metadata names no picture of it. */
export class PictureUnknownError extends ApiError {
  constructor() {
    super({ code: 'PICTURE_UNKNOWN', status: 404, message: 'Indexed metadata names no picture of it' });
  }
}

/** A 404, since strangers may cause any number of it: what metadata names could not be had, or is no picture that is shown. */
export class PictureUnreadableError extends ApiError {
  constructor(reason: string, cause?: unknown) {
    super({
      code: 'PICTURE_UNREADABLE',
      status: 404,
      message: `The picture can't be shown: ${reason}`,
      cause,
    });
  }
}

/** A 503: as many pictures as this process reads at once are being read, and as many wait as may. */
export class PicturesBusyError extends ApiError {
  constructor() {
    super({
      code: 'PICTURES_BUSY',
      status: 503,
      message: 'Too many pictures are being read: ask again in a moment',
      headers: { 'retry-after': '1' },
      retryable: true,
    });
  }
}
