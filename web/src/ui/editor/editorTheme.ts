import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** Colours come from editor.css, where light and dark both reach AA. */
const style = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.modifier], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string), tags.character], color: 'var(--code-string)' },
  { tag: [tags.comment, tags.docComment], color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-number)' },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))],
    color: 'var(--code-function)',
  },
  { tag: [tags.typeName, tags.className, tags.namespace], color: 'var(--code-type)' },
  { tag: [tags.propertyName, tags.attributeName, tags.labelName], color: 'var(--code-name)' },
  {
    tag: [tags.standard(tags.variableName), tags.definition(tags.variableName)],
    color: 'var(--code-name)',
  },
  { tag: [tags.meta, tags.processingInstruction, tags.annotation], color: 'var(--code-meta)' },
  { tag: [tags.regexp, tags.escape], color: 'var(--code-meta)' },
  { tag: tags.invalid, color: 'var(--code-invalid)' },
])

const frame = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'transparent', color: 'var(--mantine-color-text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    fontSize: '12.5px',
    lineHeight: '20px',
    fontVariantLigatures: 'none',
    overflow: 'auto',
  },
  '.cm-content': { caretColor: 'var(--mantine-color-text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-gutters': {
    backgroundColor: 'transparent',
    color: 'var(--mantine-color-dimmed)',
    border: 'none',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--code-line)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'var(--code-selection)' },
  '.cm-searchMatch': { backgroundColor: 'var(--code-match)', outline: '1px solid var(--st-warn)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--code-match-here)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--code-match)',
    outline: '1px solid var(--mantine-color-default-border)',
  },
  '.cm-panels': {
    backgroundColor: 'var(--page)',
    color: 'var(--mantine-color-text)',
    borderColor: 'var(--mantine-color-default-border)',
  },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--mantine-color-default-border)' },
  '.cm-textfield': {
    backgroundColor: 'var(--mantine-color-body)',
    color: 'inherit',
    border: '1px solid var(--mantine-color-default-border)',
    borderRadius: '4px',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--mantine-color-body)',
    color: 'inherit',
    border: '1px solid var(--mantine-color-default-border)',
    borderRadius: '4px',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    border: '1px solid var(--mantine-color-default-border)',
    borderRadius: '6px',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--code-selection)',
    color: 'inherit',
  },
})

export const editorTheme = [frame, syntaxHighlighting(style)]
