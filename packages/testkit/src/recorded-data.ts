import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folder of the recorded EVM blocks beside the repository, or null where it was not given. */
export function recordedEvmFolder(): string | null {
  return recordedFolder('evm');
}

/** Folder of one kind of recorded data beside the repository (`evm`, `aptos`, `rpc-conformance`), or null where it was not given. */
export function recordedFolder(kind: string): string | null {
  const folder = fileURLToPath(new URL(`../../../../shared/data/${kind}`, import.meta.url));
  return existsSync(folder) ? folder : null;
}
