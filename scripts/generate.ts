/** `npm run generate`: writes the files that come from the sources. `npm run check` fails when one is not up to date. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { renderGeneratedFiles } from './generated/generated-files.ts';

for (const file of await renderGeneratedFiles()) {
  writeFileSync(join(REPOSITORY_ROOT, file.path), file.text);
  console.log(`wrote ${file.path}`);
}
