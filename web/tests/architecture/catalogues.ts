/** The catalogues of the console's texts: their keys, and which of them are used. */
import ts from 'typescript'

export interface Catalogue {
  path: string
  /** The constant that holds it: `useText`. */
  name: string
  /** One list of key paths per language: `tabs.graph`. */
  languages: string[][]
  /** `as Record<string, string>`: its keys are values of the interface. */
  isLookup: boolean
}

/** Every call of `catalogue(english, spanish)` in a file. */
export function cataloguesIn(path: string, text: string): Catalogue[] {
  if (!text.includes('catalogue(')) return []
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kindOf(path))
  const result: Catalogue[] = []
  const visit = (node: ts.Node) => {
    if (ts.isVariableDeclaration(node) && node.initializer && isCatalogue(node.initializer)) {
      const languages = node.initializer.arguments.map((part) => keysOf(part))
      const isLookup = ts.isAsExpression(node.initializer.arguments[0]!)
      result.push({ path, name: node.name.getText(), languages, isLookup })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return result
}

/** Names that a file reads from something: `t.title`, `'title'`, `{ title } = t`; of a name that is
 * put together, ``t[`${status}Long`]``, its fixed end: `*Long`. */
export function namesReadIn(path: string, text: string): Set<string> {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kindOf(path))
  const names = new Set<string>()
  const visit = (node: ts.Node) => {
    // The texts themselves do not count.
    if (isCatalogue(node)) return
    if (ts.isPropertyAccessExpression(node)) names.add(node.name.text)
    else if (ts.isStringLiteralLike(node)) names.add(node.text)
    else if (ts.isBindingElement(node)) names.add((node.propertyName ?? node.name).getText())
    else if (ts.isTemplateTail(node) && node.text) names.add(`*${node.text}`)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return names
}

function isCatalogue(node: ts.Node): node is ts.CallExpression {
  return ts.isCallExpression(node) && node.expression.getText() === 'catalogue'
}

function keysOf(node: ts.Node, prefix = ''): string[] {
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node))
    return keysOf(node.expression, prefix)
  if (!ts.isObjectLiteralExpression(node)) return []
  return node.properties.flatMap((property) => {
    const key = prefix + nameOf(property.name!)
    const nested = ts.isPropertyAssignment(property) ? keysOf(property.initializer, `${key}.`) : []
    return [key, ...nested]
  })
}

function nameOf(name: ts.PropertyName): string {
  return ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? name.text : name.getText()
}

function kindOf(path: string): ts.ScriptKind {
  return path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
}
