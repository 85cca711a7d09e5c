import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

/** `chainstead jobs list|cancel` */
export function jobsCommand(context: CommandContext): Command {
  return new Command('jobs')
    .description('work on ranges that was left to the role ingest, by --detach or in the console')
    .addCommand(listCommand(context))
    .addCommand(cancelCommand(context));
}

function listCommand(context: CommandContext): Command {
  return new Command('list')
    .description('the newest jobs: how far they are, at what pace, what came of them')
    .option('--json', 'one JSON array')
    .addHelpText('after', '\nExamples:\n  $ chainstead jobs list\n  $ chainstead jobs list --json')
    .action(async (options: { json?: boolean }, command: Command) => {
      const { listJobs } = await import('../actions/jobs.ts');
      await listJobs(options, command, context);
    });
}

function cancelCommand(context: CommandContext): Command {
  return new Command('cancel')
    .description('end a job; what it has written stays')
    .argument('<job>', 'as `jobs list` shows it')
    .addHelpText('after', '\nExamples:\n  $ chainstead jobs cancel 17637384001234561f0c2ab9')
    .action(async (job: string, _options: object, command: Command) => {
      const { cancelJob } = await import('../actions/jobs.ts');
      await cancelJob(job, command, context);
    });
}
