/** The files of the console and how they import each other. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const WEB = join(dirname(fileURLToPath(import.meta.url)), '../..')

/** Every file below a folder of web/, as a path relative to web/. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(WEB, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

export function textOf(path: string): string {
  return readFileSync(join(WEB, path), 'utf8')
}

export const isScript = (path: string) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts')

export type Graph = Map<string, string[]>

/** Static, type-only and lazy imports alike: all of them tie files together for a reader. */
export function importGraph(files: Map<string, string>): Graph {
  const graph: Graph = new Map()
  for (const [path, text] of files) {
    const specifiers = ts.preProcessFile(text, true, true).importedFiles.map((ref) => ref.fileName)
    const targets = specifiers
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => posix.join(posix.dirname(path), specifier))
      .map((base) => [`${base}.ts`, `${base}.tsx`, base].find((target) => files.has(target)))
    graph.set(
      path,
      targets.filter((target) => target !== undefined),
    )
  }
  return graph
}

/** Groups of files that import each other, directly or through others (Tarjan). */
export function cycles(graph: Graph): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const groups: string[][] = []
  const visit = (file: string) => {
    order.set(file, order.size)
    lowest.set(file, order.get(file)!)
    stack.push(file)
    for (const target of graph.get(file) ?? []) {
      if (!order.has(target)) visit(target)
      if (stack.includes(target)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!))
    }
    if (lowest.get(file) !== order.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1 || graph.get(file)?.includes(file)) groups.push(group)
  }
  for (const file of graph.keys()) if (!order.has(file)) visit(file)
  return groups
}
