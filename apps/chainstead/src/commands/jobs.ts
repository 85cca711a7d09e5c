import { Command } from 'commander';
import type { CommandContext, JsonOption } from '../session/command-context.ts';

export function jobsCommand(context: CommandContext): Command {
  const jobs = new Command('jobs').description(
    'List or cancel range jobs queued with --detach or in the console, or retry quarantined work',
  );
  jobs
    .command('list')
    .description('List the latest jobs with progress, rate and result')
    .option('--json', 'JSON output (one array)')
    .addHelpText('after', '\nExamples:\n  $ chainstead jobs list\n  $ chainstead jobs list --json')
    .action(async (options: JsonOption, command: Command) => {
      const { listJobs } = await import('../actions/jobs.ts');
      await listJobs(options, command, context);
    });
  jobs
    .command('cancel')
    .description('Cancel a job (rows already written stay)')
    .argument('<job>', 'Job ID, as shown by `jobs list`')
    .addHelpText('after', '\nExamples:\n  $ chainstead jobs cancel 17637384001234561f0c2ab9')
    .action(async (job: string, _options: object, command: Command) => {
      const { cancelJob } = await import('../actions/jobs.ts');
      await cancelJob(job, command, context);
    });
  jobs
    .command('retry')
    .description('Try quarantined work again: its crashes are forgotten')
    .argument('<work>', 'Name of the work, as shown by `status`')
    .addHelpText('after', "\nExamples:\n  $ chainstead jobs retry 'block eth 123 streams'")
    .action(async (work: string, _options: object, command: Command) => {
      const { retryWork } = await import('../actions/jobs.ts');
      await retryWork(work, command, context);
    });
  return jobs;
}
