import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Data next to the repository, in `../shared`. A clone of the repository alone has none. */
export interface RecordedData {
  /** Absolute path. Nothing is there if the data is missing. */
  readonly folder: string;
  /** For `describe.skipIf` and `test.skipIf`. */
  readonly isMissing: boolean;
  /** Returns the title of a test. If the data is missing, the title names it, so that the report shows the reason for the skip. */
  title(of: string): string;
}

/** @param path below `../shared`, such as `data/evm` or `contract/chains.json` */
export function recordedData(path: string): RecordedData {
  const folder = fileURLToPath(new URL(`../../../../../shared/${path}`, import.meta.url));
  const isMissing = !existsSync(folder);
  return { folder, isMissing, title: (of) => (isMissing ? `${of} (../shared/${path} is missing)` : of) };
}

/** Returns the folder of the recorded EVM blocks, or null if it is missing. */
export function recordedEvmFolder(): string | null {
  return recordedFolder('evm');
}

/** Returns the folder of one kind of recorded data (`evm`, `aptos`, `rpc-conformance`), or null if it is missing. */
export function recordedFolder(kind: string): string | null {
  const { folder, isMissing } = recordedData(`data/${kind}`);
  return isMissing ? null : folder;
}
