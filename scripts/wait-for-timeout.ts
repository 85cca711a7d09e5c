/** Set-up of each test file: gives `vi.waitFor` the timeout of vitest.config.ts, since vitest has no setting for it. */
import { inject, vi } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** From vitest.config.ts. */
    readonly waitMs: number;
  }
}

const NAME = 'waitForWithTimeout';

// All files of a process share `vi`: wrap it once.
if (vi.waitFor.name !== NAME) {
  const { waitFor } = vi;
  const wrapped: typeof waitFor = (callback, options = {}) => {
    const given = typeof options === 'number' ? { timeout: options } : options;
    return waitFor(callback, { timeout: inject('waitMs'), ...given });
  };
  vi.waitFor = Object.defineProperty(wrapped, 'name', { value: NAME });
}
