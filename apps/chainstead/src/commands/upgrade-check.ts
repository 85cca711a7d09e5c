import { defineError } from '@chainstead/core';
import { parseConfiguration } from '../configuration/index.ts';
import type { Invocation, JsonOption } from '../session/command-context.ts';
import { commandLogger } from '../session/command-session.ts';
import { configurationSources } from '../session/read-configuration.ts';
import { openStorage } from '../session/storage.ts';
import { findDatabase } from '../session/with-database.ts';
import { planUpgrade, renderUpgrade, type UpgradePlan, upgradeJson, verdictOf } from '../upgrade/upgrade-text.ts';
import { VERSION } from '../version.ts';

/** Starting this version on the database would fail. */
class UpgradeWouldFailError extends defineError('UPGRADE_WOULD_FAIL', (plan: UpgradePlan) => ({
  message: verdictOf(plan).replace(/\.$/, ''),
  facts: { obstacles: plan.obstacles.map(({ code }) => code) },
  remedy: 'Apply the fixes listed above. Nothing was changed',
})) {}

/** @throws UpgradeWouldFailError after writing the reasons; ConfigurationError, UsageError, … */
export async function checkUpgrade({ options, command, context }: Invocation<JsonOption>): Promise<void> {
  const parsed = parseConfiguration(configurationSources(command, context), { needsUpstreams: false });
  const configuration = await findDatabase(parsed.configuration, context);
  const storage = await openStorage({
    configuration: configuration.database,
    applicationName: 'chainstead upgrade-check',
    logger: commandLogger(configuration, context),
    leavesSchema: true,
    isQuiet: true,
  });
  try {
    const { database, isEmbedded } = storage;
    const plan = await planUpgrade({
      database,
      configuration,
      warnings: parsed.warnings,
      isEmbedded,
      version: VERSION,
    });
    context.stdout.write(options.json === true ? `${JSON.stringify(upgradeJson(plan))}\n` : renderUpgrade(plan));
    if (plan.obstacles.length > 0) throw new UpgradeWouldFailError(plan);
  } finally {
    await storage.close();
  }
}
