/**
 * Set-up of each test file: `vi.waitFor` waits for as long as a machine may stall. Left alone it gives up after a second, and vitest has no setting for
 * it, as it has for `expect.poll` (vitest.config.ts). It returns as soon as what it waits for is there, so patience costs nothing.
 */
import { inject, vi } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** From vitest.config.ts. */
    readonly patienceMs: number;
  }
}

const NAME = 'waitOutStalls';

// The files of a process share `vi`, and each of them comes by here.
if (vi.waitFor.name !== NAME) {
  const { waitFor } = vi;
  const patient: typeof waitFor = (callback, options = {}) => {
    const given = typeof options === 'number' ? { timeout: options } : options;
    return waitFor(callback, { timeout: inject('patienceMs'), ...given });
  };
  vi.waitFor = Object.defineProperty(patient, 'name', { value: NAME });
}
