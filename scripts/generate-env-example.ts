/** Writes `.env.example` from the configuration schema. A test fails when the file is not what this would write. */
import { writeFileSync } from 'node:fs';
import { renderEnvExample } from '../apps/chainstead/src/configuration/env-example.ts';

writeFileSync(new URL('../.env.example', import.meta.url), renderEnvExample());
