import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, foldGutter, indentOnInput, indentUnit } from '@codemirror/language'
import { linter, lintGutter } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { useEffect, useId, useLayoutEffect, useRef } from 'react'
import { prefs } from '../../lib/prefs'
import { changeTo } from './documentChange'
import { editorTheme } from './editorTheme'
import { grammarOf, languageOf } from './languages'
import { faultsIn } from './syntaxCheck'
import { useText } from './text'

export interface EditorProps {
  value: string
  onChange?: (value: string) => void
  /** The name for screen readers. */
  label: string
  /** Name and way of running decide the language. */
  filename?: string
  runas?: string
  readOnly?: boolean
  /** Ask the server whether the script is sound; admins only. */
  check?: boolean
  height?: number | string
  minHeight?: number | string
}

const LOOK_MS = 700

export function Editor(props: EditorProps) {
  const t = useText()
  const hint = useId()
  const box = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const now = useRef(props)
  now.current = props
  const slots = useRef({ language: new Compartment(), mode: new Compartment() })
  const { value, filename = '', runas = '', readOnly = false, check = false, label } = props

  useLayoutEffect(() => {
    const { language, mode } = slots.current
    const editor = new EditorView({
      parent: box.current!,
      state: EditorState.create({
        doc: now.current.value,
        extensions: [...base(hint), language.of([]), mode.of([]), onEdit(now)],
      }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [hint])

  // In the same turn as the render: a key pressed after it would be taken back otherwise.
  useLayoutEffect(() => {
    const editor = view.current
    const text = editor?.state.doc.toString()
    if (!editor || text === undefined || text === value) return
    editor.dispatch({ changes: changeTo(text, value) })
  }, [value])

  const language = languageOf(filename, runas, value)
  useEffect(() => {
    let isRemoved = false
    void grammarOf(language).then((grammar) => {
      if (!isRemoved)
        view.current?.dispatch({ effects: slots.current.language.reconfigure(grammar) })
    })
    return () => {
      isRemoved = true
    }
  }, [language])

  useEffect(() => {
    const effects = slots.current.mode.reconfigure(modeOf(label, readOnly, check, now))
    view.current?.dispatch({ effects })
  }, [label, readOnly, check])

  return (
    <>
      <div ref={box} className="editor-box" data-language={language} />
      <div className="editor-hint" id={hint}>
        {readOnly ? null : t.leave} {check && !readOnly ? t.checking : null}
      </div>
    </>
  )
}

/** `held` is read when it happens, so that the editor need not be made again for each render. */
interface Callbacks {
  current: EditorProps
}

function onEdit(callbacks: Callbacks): Extension {
  return EditorView.updateListener.of((update) => {
    if (update.docChanged) callbacks.current.onChange?.(update.state.doc.toString())
  })
}

function modeOf(label: string, readOnly: boolean, check: boolean, callbacks: Callbacks): Extension {
  const checkDocument = (editor: EditorView) =>
    faultsIn(editor, callbacks.current.filename ?? '', callbacks.current.runas ?? '')
  return [
    EditorState.readOnly.of(readOnly),
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    check && !readOnly ? [linter(checkDocument, { delay: LOOK_MS }), lintGutter()] : [],
  ]
}

function base(hint: string): Extension[] {
  return [
    lineNumbers(),
    foldGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    indentUnit.of('    '),
    bracketMatching(),
    closeBrackets(),
    autocompletion(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    search({ top: true }),
    // Esc, then Tab moves to the next control: the keyboard is never trapped.
    keymap.of([
      ...searchKeymap,
      ...completionKeymap,
      ...defaultKeymap,
      ...historyKeymap,
      indentWithTab,
    ]),
    EditorView.contentAttributes.of({ 'aria-describedby': hint, 'aria-multiline': 'true' }),
    EditorState.phrases.of(phrases()),
    editorTheme,
  ]
}

function phrases(): Record<string, string> {
  if (prefs().language === 'en') return {}
  const t = useText.now()
  return {
    Find: t.find,
    Replace: t.replace,
    next: t.next,
    previous: t.previous,
    all: t.all,
    'match case': t.matchCase,
    regexp: t.regexp,
    'by word': t.byWord,
    replace: t.replaceOne,
    'replace all': t.replaceAll,
    close: t.close,
  }
}
