/** What the parts of `doctor` find: one shape, one text, one JSON. */
import { type CheckReport, type Finding, type Verdict, worstVerdict } from '@chainstead/core';

export interface Report
  extends Pick<CheckReport, 'name' | 'findings'>,
    Partial<Pick<CheckReport, 'calls' | 'tookMs'>> {
  readonly part: 'configuration' | 'storage' | 'upgrade' | 'nodes' | 'sources' | 'datasets' | 'progress' | 'plan';
  /** As in `CHAINS`; `aptos` or `aptos-testnet`. */
  readonly chain?: string;
}

const MARKS: Readonly<Record<Verdict, string>> = { ok: 'ok', warning: 'WARNING', bad: 'BAD' };
const MARK_WIDTH = 9;
const SUBJECT_WIDTH = 24;

export function renderReports(reports: readonly Report[]): string {
  return [...reports.map(renderReport), `${conclusionOf(reports)}\n`].join('\n');
}

export function renderReport(report: Report): string {
  const { findings, calls = 0, tookMs = 0 } = report;
  const effort =
    calls === 0 ? '' : ` (${calls} ${calls === 1 ? 'call' : 'calls'}, ${(tookMs / 1_000).toFixed(1)} s)`;
  return `${titleOf(report)}${effort}\n${findings.map(renderFinding).join('')}`;
}

export function titleOf({ chain, name }: Report): string {
  return chain === undefined ? name : `${chain}: ${name}`;
}

export function renderFinding({ subject, verdict, found, meaning, remedy }: Finding): string {
  const first = `  ${MARKS[verdict].padEnd(MARK_WIDTH)}${subject.padEnd(SUBJECT_WIDTH)}  ${found}\n`;
  const below = ' '.repeat(MARK_WIDTH + SUBJECT_WIDTH + 4);
  return `${first}${[meaning, remedy].flatMap((text) => (text === null ? [] : [`${below}${text}\n`])).join('')}`;
}

function conclusionOf(reports: readonly Report[]): string {
  const findings = reports.flatMap((report) => report.findings);
  const count = (verdict: Verdict): number => findings.filter((finding) => finding.verdict === verdict).length;
  const [warnings, bad] = [count('warning'), count('bad')];
  if (bad === 0 && warnings === 0) return 'All checks passed.';
  const reported = warnings === 1 ? '1 warning' : `${warnings} warnings`;
  if (bad === 0) return `No check failed, ${reported}.`;
  return `${bad === 1 ? '1 check' : `${bad} checks`} failed${warnings === 0 ? '' : `, ${reported}`}.`;
}

/** A list of reports for each part. */
export function reportsJson(reports: readonly Report[]): Readonly<Record<string, unknown>> {
  const parts = Map.groupBy(reports, ({ part }) => part);
  return {
    verdict: worstVerdict(reports.flatMap(({ findings }) => findings)),
    ...Object.fromEntries([...parts].map(([part, ofPart]) => [part, ofPart.map(reportJson)])),
  };
}

function reportJson({ chain, name, findings, calls, tookMs }: Report): Readonly<Record<string, unknown>> {
  return { chain, name, verdict: worstVerdict(findings), calls, took_ms: tookMs && Math.round(tookMs), findings };
}
