import { buildBulkIndexes, missingBulkIndexes } from '@chainstead/sync/ingest';
import { writeOutcome } from '../ranges/range-command.ts';
import type { Invocation } from '../session/command-context.ts';
import { withDatabase } from '../session/with-database.ts';

export function buildMissingIndexes(invocation: Invocation): Promise<void> {
  const { context } = invocation;
  return withDatabase(invocation, 'indexes', async ({ database }, configuration) => {
    const missing = await missingBulkIndexes(database, configuration.datasets);
    await buildBulkIndexes(database, configuration.datasets, (index) =>
      context.stderr.write(`building ${index} …\n`),
    );
    const sentence = missing.length === 0 ? 'All indexes exist.' : `Built ${missing.join(', ')}.`;
    writeOutcome(context, sentence, { work: 'indexes', built: missing, finished: true });
  });
}
