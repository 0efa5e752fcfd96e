import type { Diagnostic } from '@codemirror/lint'
import type { EditorView } from '@codemirror/view'
import { api, ok, type Shape } from '../../api/client'

/**
 * The faults that the server reports, as marks in the editor. If the server cannot be reached,
 * nothing is marked, and writing continues.
 */
export async function faultsIn(
  view: EditorView,
  filename: string,
  runas: string,
): Promise<Diagnostic[]> {
  const source = view.state.doc.toString()
  if (!source.trim()) return []
  try {
    const body = { source, filename, runas }
    const result = await ok<Shape<'Checked'>>(api.POST('/script/check', { body }))
    return result.faults.map((fault) => mark(view, fault))
  } catch {
    return []
  }
}

function mark(view: EditorView, fault: Shape<'ScriptFault'>): Diagnostic {
  const line = view.state.doc.line(Math.min(Math.max(fault.line, 1), view.state.doc.lines))
  const from = Math.min(line.from + Math.max(fault.column - 1, 0), line.to)
  return { from, to: Math.max(from, line.to), severity: 'error', message: fault.message }
}
