/** Which names a file binds, and the words that are no names. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

// One list for the server and the console.
const LISTS = readFileSync(
  fileURLToPath(new URL('../../../tests/architecture/test_names.py', import.meta.url)),
  'utf8',
)

function wordsIn(list: string): Set<string> {
  const [, body = ''] = new RegExp(`^${list} = frozenset\\(([^]*?)^\\)`, 'm').exec(LISTS) ?? []
  return new Set([...body.matchAll(/"(\w+)"/g)].map(([, word]) => word!))
}

export const UNINFORMATIVE = wordsIn('UNINFORMATIVE')
export const PARTICIPLES = wordsIn('PARTICIPLES')
export const IRREGULAR = wordsIn('IRREGULAR')

/** Former names of components and files that were not informative. */
export const PRIVATE = new Set(
  (
    'acts beats door doors ending feed further go meanwhile more needs nothing only pen rest seer ' +
    'seers side sight spark trouble turns'
  ).split(' '),
)

export interface Binding {
  name: string
  isFunction: boolean
  isExported: boolean
}

/** Variables, parameters, parts of a destructured value, functions, types and their members. */
export function bindings(path: string, text: string): Binding[] {
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind)
  const result: Binding[] = []
  const visit = (node: ts.Node) => {
    const name = isDeclaration(node) ? node.name : undefined
    if (name && ts.isIdentifier(name)) {
      const isFunction = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)
      const flags = ts.getCombinedModifierFlags(node as ts.Declaration)
      const isExported = (flags & ts.ModifierFlags.Export) !== 0
      result.push({ name: name.text, isFunction, isExported })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return result
}

const DECLARATIONS = [
  ts.isVariableDeclaration,
  ts.isParameter,
  ts.isBindingElement,
  ts.isFunctionDeclaration,
  ts.isMethodDeclaration,
  ts.isPropertyDeclaration,
  ts.isPropertySignature,
  ts.isClassDeclaration,
  ts.isInterfaceDeclaration,
  ts.isTypeAliasDeclaration,
]

function isDeclaration(node: ts.Node): node is ts.NamedDeclaration {
  return DECLARATIONS.some((matches) => matches(node))
}

export function isUninformative({ name, isFunction }: Binding): boolean {
  return UNINFORMATIVE.has(name) || (isFunction && isParticiple(name))
}

// Verbs of the field that end like a participle.
const VERBS = new Set(['feed', 'need', 'seed', 'proceed'])

/** A function is named by a verb, a component by a noun: one word that ends in "ed" is neither. */
export function isParticiple(name: string): boolean {
  const word = name.toLowerCase()
  if (PARTICIPLES.has(word) || IRREGULAR.has(word)) return true
  return /^[A-Za-z][a-z]+ed$/.test(name) && !VERBS.has(word)
}

/** A file, or something that a file exports, whose whole name is such a word. */
export function isPrivateWord(name: string): boolean {
  const word = basename(name).replace(/\..*$/, '').toLowerCase()
  return PRIVATE.has(word) || UNINFORMATIVE.has(word)
}
