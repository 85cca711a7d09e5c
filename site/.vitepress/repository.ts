import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const manifest: { version: string; repository: { url: string } } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
);

/** Version of the checkout. */
export const VERSION = manifest.version;
/** Address of the repository in a browser, as package.json has it. */
export const REPOSITORY = manifest.repository.url.replace(/^git\+(.*)\.git$/, '$1');
