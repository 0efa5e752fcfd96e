import { currentCustomer, ROOT } from '../../../api/client'
import { KINDS } from '../../arguments/kinds'
import { type Argument, nameOf } from '../../arguments/values'
import type { Target } from '../target'

/** How a call authorizes itself: a token from the environment, or the secret key of the record. */
export type Key = { token: true } | { secret: string }

const server = () => location.origin + ROOT.replace(/\/$/, '')
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** The address that runs it. */
export function runUrl({ kind, id }: Target, key: Key): string {
  const noun = kind === 'task' ? 'task' : 'workflows'
  const path = 'secret' in key ? `${noun}/${id}/secret/${key.secret}/job` : `${noun}/${id}/job`
  return `${server()}/${path}?customer=${encodeURIComponent(currentCustomer())}`
}

export function curlCall(target: Target, key: Key, values: unknown[]): string {
  const lines = [`curl -X POST ${quoted(runUrl(target, key))}`]
  if ('token' in key) lines.push('-H "Authorization: Bearer $BELVEDERE_TOKEN"')
  if (values.length) {
    lines.push("-H 'Content-Type: application/json'")
    lines.push(`-d ${quoted(JSON.stringify({ task_arguments: values }))}`)
  }
  return lines.join(' \\\n  ')
}

export function pythonCall(target: Target, key: Key, values: unknown[]): string {
  const body = JSON.stringify(JSON.stringify({ task_arguments: values }))
  const hasToken = 'token' in key
  return [
    'import json',
    ...(hasToken ? ['import os'] : []),
    'from urllib.request import Request, urlopen',
    '',
    'request = Request(',
    `    ${JSON.stringify(runUrl(target, key))},`,
    `    data=${body}.encode(),`,
    '    headers={',
    '        "Content-Type": "application/json",',
    ...(hasToken ? ['        "Authorization": "Bearer " + os.environ["BELVEDERE_TOKEN"],'] : []),
    '    },',
    '    method="POST",',
    ')',
    'job = json.load(urlopen(request))',
    'print(job["id"], job["lifecycle"])',
  ].join('\n')
}

const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

/** An HTML form; it can contain only a secret key, not a token. */
export function htmlForm(target: Target, secret: string, definitions: Argument[]): string {
  const free = definitions
    .map((argument, n) => ({ argument, label: nameOf(argument, n) }))
    .filter(({ argument }) => argument.type !== 'fixed')
  const hasFile = free.some(({ argument }) => argument.type === 'file')
  return [
    `<form method="post" action="${escaped(runUrl(target, { secret }))}"${hasFile ? ' enctype="multipart/form-data"' : ''}>`,
    ...free.map(({ argument, label }) => `  <label>${escaped(label)} ${input(argument)}</label>`),
    '  <button>Run</button>',
    '</form>',
  ].join('\n')
}

function input(argument: Argument): string {
  const name = 'name="task_arguments[]"'
  const required = argument.required ? ' required' : ''
  const { htmlOptions, isMultiline, htmlType = 'text' } = KINDS[argument.type]
  if (htmlOptions) {
    const options = htmlOptions(argument).map((id) => `<option>${escaped(id)}</option>`)
    return `<select ${name}${required}>${options.join('')}</select>`
  }
  if (isMultiline) return `<textarea ${name}${required}></textarea>`
  const type = argument.masked ? 'password' : htmlType
  return `<input ${name} type="${type}"${required}>`
}
