import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folder of the recorded EVM blocks beside the repository, or null where it was not given. */
export function recordedEvmFolder(): string | null {
  const folder = fileURLToPath(new URL('../../../../shared/data/evm', import.meta.url));
  return existsSync(folder) ? folder : null;
}
