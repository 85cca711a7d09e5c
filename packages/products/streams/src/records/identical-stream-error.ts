import { ApiError } from '@chainstead/http';

export class IdenticalStreamError extends ApiError {
  readonly streamId: string;

  constructor(streamId: string) {
    super({
      code: 'STREAM_IDENTICAL',
      status: 400,
      message: `Stream ${streamId} has the same configuration: change it, or set another description or tag for this one`,
      details: { streamId },
    });
    this.streamId = streamId;
  }
}
