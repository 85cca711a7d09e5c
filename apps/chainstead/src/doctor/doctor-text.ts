import { type CheckReport, type Finding, type Verdict, worstVerdict } from '@chainstead/core';
import type { NodeReport } from './examine-nodes.ts';

export interface Examination {
  readonly storage: readonly CheckReport[];
  readonly nodes: readonly NodeReport[];
  /** Sources of history. */
  readonly sources: readonly NodeReport[];
  readonly chains: readonly ChainReport[];
}

export interface ChainReport {
  readonly chain: string;
  readonly datasets: readonly Finding[];
  readonly progress: readonly Finding[];
}

const MARKS: Readonly<Record<Verdict, string>> = { ok: 'ok', warning: 'WARNING', bad: 'BAD' };
const MARK_WIDTH = 9;
const SUBJECT_WIDTH = 24;

export function renderExamination(examination: Examination): string {
  const { storage, nodes, sources, chains } = examination;
  const sections = [
    ...storage.map((report) => renderReport(report.name, report)),
    ...[...nodes, ...sources].map((report) => renderReport(`${report.chain}: ${report.name}`, report)),
    ...chains.flatMap(({ chain, datasets, progress }) => [
      `${chain}: datasets\n${datasets.map(renderFinding).join('')}`,
      ...(progress.length === 0 ? [] : [`${chain}: progress\n${progress.map(renderFinding).join('')}`]),
    ]),
    `${verdictOf(examination)}\n`,
  ];
  return sections.join('\n');
}

function renderReport(title: string, { findings, calls, tookMs }: CheckReport): string {
  const effort =
    calls === 0 ? '' : ` (${calls} ${calls === 1 ? 'call' : 'calls'}, ${(tookMs / 1_000).toFixed(1)} s)`;
  return `${title}${effort}\n${findings.map(renderFinding).join('')}`;
}

export function renderFinding({ subject, verdict, found, meaning, remedy }: Finding): string {
  const first = `  ${MARKS[verdict].padEnd(MARK_WIDTH)}${subject.padEnd(SUBJECT_WIDTH)}  ${found}\n`;
  const below = ' '.repeat(MARK_WIDTH + SUBJECT_WIDTH + 4);
  return `${first}${[meaning, remedy].flatMap((text) => (text === null ? [] : [`${below}${text}\n`])).join('')}`;
}

function judged({ storage, nodes, sources, chains }: Examination): readonly Finding[] {
  const reports = [...storage, ...nodes, ...sources].flatMap(({ findings }) => findings);
  return [...reports, ...chains.flatMap(({ progress }) => progress)];
}

function verdictOf(examination: Examination): string {
  const findings = judged(examination);
  const count = (verdict: Verdict): number => findings.filter((finding) => finding.verdict === verdict).length;
  const [warnings, bad] = [count('warning'), count('bad')];
  if (bad === 0 && warnings === 0) return 'All checks passed.';
  const reported = warnings === 1 ? '1 warning' : `${warnings} warnings`;
  if (bad === 0) return `No check failed, ${reported}.`;
  return `${bad === 1 ? '1 check' : `${bad} checks`} failed${warnings === 0 ? '' : `, ${reported}`}.`;
}

export function examinationJson(examination: Examination): Readonly<Record<string, unknown>> {
  const { storage, nodes, sources, chains } = examination;
  const reportJson = ({ name, findings, calls, tookMs }: CheckReport) => {
    return { name, verdict: worstVerdict(findings), calls, took_ms: Math.round(tookMs), findings };
  };
  return {
    verdict: worstVerdict(judged(examination)),
    storage: storage.map(reportJson),
    nodes: nodes.map((report) => ({ chain: report.chain, ...reportJson(report) })),
    sources: sources.map((report) => ({ chain: report.chain, ...reportJson(report) })),
    chains,
  };
}
