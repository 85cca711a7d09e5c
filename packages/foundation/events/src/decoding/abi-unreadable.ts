import { defineError } from '@chainstead/core';

export class AbiUnreadableError extends defineError(
  'ABI_UNREADABLE',
  (place: string, problem: string, remedy: string) => ({
    message: `No ABI or signature could be imported from ${place}: ${problem}`,
    facts: { place },
    remedy,
  }),
) {}
