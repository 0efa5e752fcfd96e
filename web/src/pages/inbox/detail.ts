import type { Notice } from '../../api/queries/inbox'
import { browserName } from '../../lib/browserName'
import type { useInboxText } from './text'

type Text = ReturnType<typeof useInboxText>
type Detail = Pick<Notice, 'kind' | 'body'>

// As server/notices/accounts.py writes them; a text of another shape is shown as it is.
const SIGN_IN = /^Address: ([^;]*); Browser or program: (.*)$/
const TOKEN = /^Token: (.*)$/

/** The line below the title. Lines about the own account are in the reader's language. */
export function detailOf({ kind, body }: Detail, t: Text): string {
  const signIn = kind === 'member.new_sign_in' ? SIGN_IN.exec(body) : null
  if (signIn) return t.signIn(signIn[1] ?? '', browserName(signIn[2] ?? ''))
  const token = kind === 'token.created' ? TOKEN.exec(body) : null
  return token ? t.token(token[1] ?? '') : body
}
