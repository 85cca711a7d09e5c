import { readAptosExamples } from '@chainstead/aptos';
import { readExamples } from '@chainstead/datasets';
import type { Database } from '@chainstead/db';
import type { DocumentExamples } from '@chainstead/http';
import { NAME_EXAMPLES } from '@chainstead/names';
import type { Configuration } from '../configuration/index.ts';
import { readStreamExamples } from './stream-examples.ts';

/** What the API's documentation fills in, so that its requests have answers here. */
export async function readDocumentExamples(
  database: Database,
  { chains, gateway, aptos }: Pick<Configuration, 'chains' | 'gateway' | 'aptos'>,
): Promise<DocumentExamples> {
  const [offered] = gateway.chains;
  return {
    ...(await readExamples(
      database,
      chains.map(({ chain }) => chain),
    )),
    ...(await readAptosExamples(
      database,
      aptos.networks.map(({ network }) => network),
    )),
    ...(await readStreamExamples(database)),
    ...NAME_EXAMPLES,
    ...(offered !== undefined && {
      'GET /{chain}/supportedMethods': { chain: offered.slug },
      'POST /{chain}/{apiKey}': { chain: offered.slug, apiKey: 'your-api-key' },
    }),
  };
}
