import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where Debian's package puts the browser; undefined where there is none. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, 'chromium')).find((path) => existsSync(path));
}
