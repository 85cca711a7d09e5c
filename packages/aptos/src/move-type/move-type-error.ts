import { defineError } from '@chainstead/core';

export class MoveTypeError extends defineError('MOVE_TYPE_INVALID', (reason: string, position: number) => ({
  message: `The text is not a Move type: ${reason} at character ${position}`,
  facts: { reason, position },
})) {}
