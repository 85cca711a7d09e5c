import { defineError } from '@chainstead/core';

/** A file of ABIs or signatures without any decodable entry. Nothing was changed. */
export class AbiUnreadableError extends defineError(
  'ABI_UNREADABLE',
  (place: string, problem: string, remedy: string) => ({
    message: `No ABI or signature could be imported from ${place}: ${problem}`,
    facts: { place },
    remedy,
  }),
) {}
