import { defineError } from '@chainstead/core';

/** A text is not a Move type. Code `MOVE_TYPE_INVALID`. */
export class MoveTypeError extends defineError('MOVE_TYPE_INVALID', (reason: string, position: number) => ({
  message: `The text is not a Move type: ${reason} at character ${position}`,
  facts: { reason, position },
})) {}
