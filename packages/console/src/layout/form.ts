import { html } from 'hono/html';
import { type Html, NOTHING } from './html.ts';

/** The token field of each form that changes something. */
export const TOKEN_FIELD = 'token';
/** Replaces the field for scripts. */
export const TOKEN_HEADER = 'x-console-token';

/** Returns a form that changes something. @param content fields and buttons. @param label for screen readers */
export function changeForm(action: string, token: string, content: Html, label?: string): Html {
  return html`<form method="post" action="${action}" ${label === undefined ? NOTHING : html`aria-label="${label}"`}>
<input type="hidden" name="${TOKEN_FIELD}" value="${token}">${content}</form>`;
}
