import type { Extension } from '@codemirror/state'

export type Language = 'python' | 'javascript' | 'json' | 'yaml' | 'shell' | 'powershell' | 'text'

const BY_ENDING: Record<string, Language> = {
  py: 'python',
  pyw: 'python',
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  ts: 'javascript',
  json: 'json',
  yml: 'yaml',
  yaml: 'yaml',
  sh: 'shell',
  bash: 'shell',
  zsh: 'shell',
  ksh: 'shell',
  ps1: 'powershell',
  psm1: 'powershell',
}
const BY_PROGRAM: [RegExp, Language][] = [
  [/\bpython[\d.]*\b/, 'python'],
  [/\b(node|nodejs|deno|bun)\b/, 'javascript'],
  [/\b(pwsh|powershell)\b/i, 'powershell'],
  [/\b(ba|z|k|da)?sh\b/, 'shell'],
]

/** The language of a script: by its name, else by its command, else by its first line. */
export function languageOf(filename: string, runas = '', source = ''): Language {
  const ending = filename.includes('.') ? filename.split('.').pop()!.toLowerCase() : ''
  const first = source.startsWith('#!') ? source.slice(0, 200).split('\n')[0]! : ''
  return BY_ENDING[ending] ?? byProgram(runas) ?? byProgram(first) ?? 'text'
}

function byProgram(line: string): Language | undefined {
  return BY_PROGRAM.find(([program]) => program.test(line))?.[1]
}

/** Each language is a file of its own, fetched when a script needs it. */
export async function grammarOf(language: Language): Promise<Extension> {
  switch (language) {
    case 'python':
      return (await import('@codemirror/lang-python')).python()
    case 'javascript':
      return (await import('@codemirror/lang-javascript')).javascript({ typescript: true })
    case 'json':
      return (await import('@codemirror/lang-json')).json()
    case 'yaml':
      return (await import('@codemirror/lang-yaml')).yaml()
    case 'shell':
      return stream((await import('@codemirror/legacy-modes/mode/shell')).shell)
    case 'powershell':
      return stream((await import('@codemirror/legacy-modes/mode/powershell')).powerShell)
    default:
      return []
  }
}

async function stream(parser: unknown): Promise<Extension> {
  const { StreamLanguage } = await import('@codemirror/language')
  return StreamLanguage.define(parser as Parameters<typeof StreamLanguage.define>[0])
}
