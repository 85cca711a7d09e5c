import { ApiError } from '@chainstead/http';

/** A 400: a stream with the same configuration is there already. */
export class IdenticalStreamError extends ApiError {
  readonly streamId: string;

  constructor(streamId: string) {
    super({
      code: 'STREAM_IDENTICAL',
      status: 400,
      message: `Stream ${streamId} has the same configuration: change that one, or give this one another description or tag`,
      details: { streamId },
    });
    this.streamId = streamId;
  }
}
