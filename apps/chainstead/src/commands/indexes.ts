import { buildBulkIndexes, missingBulkIndexes } from '@chainstead/sync';
import { writeOutcome } from '../ranges/range-command.ts';
import type { Invocation } from '../session/command-context.ts';
import { withStorage } from '../session/command-session.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';

export function buildMissingIndexes({ command, context }: Invocation): Promise<void> {
  const configuration = readDatabaseConfiguration(command, context);
  return withStorage({ configuration, context, name: 'indexes' }, async ({ database }) => {
    const missing = await missingBulkIndexes(database, configuration.datasets);
    await buildBulkIndexes(database, configuration.datasets, (index) => context.stderr.write(`building ${index} …\n`));
    const sentence = missing.length === 0 ? 'All indexes exist.' : `Built ${missing.join(', ')}.`;
    writeOutcome(context, sentence, { work: 'indexes', built: missing, finished: true });
  });
}
