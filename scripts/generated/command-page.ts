import type { createProgram } from '../../apps/chainstead/src/command-line.ts';

type Command = ReturnType<typeof createProgram>;
type Argument = Command['registeredArguments'][number];
type Option = Command['options'][number];

/** docs/reference/cli.md: one heading per command, with its arguments, options and examples as `--help` prints them. */
export function renderCommandPage(program: Command): string {
  return `# Commands

This page lists every command with its options. \`npx chainstead <command> --help\` prints the same. \`npm run generate\` writes this page.

Exit codes: 0 success, 1 failure, 2 wrong usage or configuration.

## All commands

${renderOptions(program)}
${leavesOf(program, 'chainstead')
  .map(([name, command]) => renderCommand(name, command))
  .join('\n')}`;
}

/** Commands without subcommands, with their full names. */
function leavesOf(parent: Command, prefix: string): [string, Command][] {
  return parent.commands.flatMap((command): [string, Command][] => {
    const name = `${prefix} ${command.name()}`;
    return command.commands.length === 0 ? [[name, command]] : leavesOf(command, name);
  });
}

function renderCommand(name: string, command: Command): string {
  const usage = [name, ...command.registeredArguments.map(usageOf)].join(' ');
  const described = command.registeredArguments.filter(({ description }) => description !== '');
  return [
    `## ${name}`,
    `${inline(sentence(command.description()))}`,
    `\`\`\`text\n${usage}${command.options.length === 0 ? '' : ' [options]'}\n\`\`\``,
    ...(described.length === 0
      ? []
      : [described.map((argument) => `- \`${argument.name()}\`: ${inline(argument.description)}`).join('\n')]),
    ...(command.options.length === 0 ? [] : [renderOptions(command).trimEnd()]),
  ]
    .map((block) => `${block}\n`)
    .join('\n');
}

function usageOf(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
}

function renderOptions(command: Command): string {
  return `| Option | Meaning |\n|---|---|\n${command.options.map(renderOption).join('')}`;
}

function renderOption(option: Option): string {
  const text = option.description.replaceAll('|', String.raw`\|`);
  const normal =
    option.defaultValue === undefined || option.defaultValue === false
      ? ''
      : `. Default: \`${String(option.defaultValue)}\``;
  return `| \`${option.flags.replaceAll('|', String.raw`\|`)}\` | ${inline(text)}${normal}${option.mandatory ? '. Required' : ''} |\n`;
}

function sentence(text: string): string {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return upper.endsWith('.') ? upper : `${upper}.`;
}

/** Text as Markdown: `<chain>` outside of code is no HTML tag. */
function inline(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replaceAll('<', String.raw`\<`) : part))
    .join('`');
}
