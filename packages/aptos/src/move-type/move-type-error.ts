import { ChainsteadError } from '@chainstead/core';

/** A text is not a Move type. Code `MOVE_TYPE_INVALID`. */
export class MoveTypeError extends ChainsteadError {
  /** @param position of the error, in characters from 0 */
  constructor(reason: string, position: number) {
    super({
      code: 'MOVE_TYPE_INVALID',
      message: `The text is not a Move type: ${reason} at character ${position}`,
      facts: { reason, position },
      retryable: false,
    });
  }
}
