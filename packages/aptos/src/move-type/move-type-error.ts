import { ChainsteadError } from '@chainstead/core';

/** A text is no Move type. Code `MOVE_TYPE_INVALID`. */
export class MoveTypeError extends ChainsteadError {
  /** @param position where reading stopped, in characters from 0 */
  constructor(reason: string, position: number) {
    super({
      code: 'MOVE_TYPE_INVALID',
      message: `The text is not a Move type: ${reason} at character ${position}`,
      facts: { reason, position },
      retryable: false,
    });
  }
}
