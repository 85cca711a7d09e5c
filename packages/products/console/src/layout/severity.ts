import { html } from 'hono/html';
import { type Html, shown } from './html.ts';

export type Severity = 'ok' | 'warning' | 'bad';

/** The text names the state: nothing depends on the color. */
export function severityView(severity: Severity, text: Html | string): Html {
  return html`<span class="v-${severity}">${text}</span>`;
}

export function nodeStateView(state: string, reason: string | null, max: number): Html {
  const severity = state === 'healthy' ? 'ok' : state === 'degraded' || state === 'paused' ? 'warning' : 'bad';
  return html`${severityView(severity, shown(state))}${reason !== null && html`: ${shown(reason, max)}`}`;
}

export function streamStatusView(status: string): Html {
  return html`<span class="status s-${status}">${status}</span>`;
}

export function attemptView(success: boolean): Html {
  return success ? severityView('ok', 'delivered') : severityView('bad', 'failed');
}
