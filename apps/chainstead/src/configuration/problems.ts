import { ChainsteadError, defineError } from '@chainstead/core';
import type { KeyFacts } from './key-facts.ts';
import { redactValue } from './redaction.ts';

export interface ConfigurationProblem {
  readonly key: string;
  readonly given: string | null;
  readonly problem: string;
  readonly allowed: string;
  readonly example: string;
}

export function problemWith(
  key: string,
  given: string | undefined,
  problem: string,
  facts: KeyFacts,
): ConfigurationProblem {
  return {
    key,
    given: given === undefined ? null : redactValue(given, facts),
    problem,
    allowed: facts.allowed,
    example: `${key}=${facts.example}`,
  };
}

export class ConfigurationError extends ChainsteadError {
  readonly problems: readonly ConfigurationProblem[];

  constructor(problems: readonly ConfigurationProblem[]) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super({
      code: 'CONFIGURATION_INVALID',
      message: `The configuration has ${count}:\n${problems.map(problemText).join('\n')}`,
      facts: { problems },
      retryable: false,
    });
    this.problems = problems;
  }
}

function problemText(problem: ConfigurationProblem): string {
  const given = problem.given === null ? ' is missing:' : `=${JSON.stringify(problem.given)}`;
  return [
    `  ${problem.key}${given} ${problem.problem.replace(/\.$/, '')}.`,
    `    allowed: ${problem.allowed}`,
    `    example: ${problem.example}`,
  ].join('\n');
}

export class ConfigurationFileError extends defineError(
  'CONFIGURATION_FILE',
  (path: string, problem: string, cause?: unknown) => ({
    message: `The configuration file ${path} ${problem}`,
    facts: { path },
    remedy: 'Use KEY=value lines, or one JSON object with the same keys in a file that ends in .json',
    cause,
  }),
) {}
