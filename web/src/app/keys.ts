import { createContext, useContext, useId, useLayoutEffect, useRef } from 'react'
import { prefs } from '../lib/prefs'

/** Keys to acts: 'r', 'Shift+R', 'mod+s', or two in a row: 'g j'. */
export type Keys = Record<string, (event: KeyboardEvent) => void>

const PAUSE_MS = 1200
let before = ''
let at = 0

/** The open dialogs, the newest last: only its bindings and global ones act. */
const dialogs: string[] = []

/** The dialog around a component; empty on a page. */
export const DialogContext = createContext('')

/** Takes the keys from the page and from older dialogs while `opened`; returns the context's value. */
export function useDialogKeys(opened: boolean): string {
  const id = useId()
  useLayoutEffect(() => {
    if (!opened) return
    dialogs.push(id)
    return () => void dialogs.splice(dialogs.indexOf(id), 1)
  }, [id, opened])
  return id
}

/** In a text field these keys undo and redo the text. */
const TEXT_KEYS = ['mod+z', 'mod+Shift+z']

/**
 * Binds keys while a component is on screen; behind a dialog only if they are global. Single keys are
 * ignored while a person types, in a dialog, and when they are switched off.
 */
export function useKeys(keys: Keys, isGlobal = false): void {
  const now = useRef(keys)
  now.current = keys
  const dialog = useContext(DialogContext)
  // Before it is painted, so that everything visible handles keys.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!isGlobal && dialog !== (dialogs.at(-1) ?? '')) return
      const name = nameOf(event)
      const isCombination = event.ctrlKey || event.metaKey
      if (!isCombination && (isTyping(event) || !prefs().keys || event.altKey)) return
      if (TEXT_KEYS.includes(name) && isTyping(event)) return
      const pair = Date.now() - at < PAUSE_MS ? `${before} ${name}` : ''
      const action =
        now.current[pair] ?? (pair && startsPair(before) ? undefined : now.current[name])
      if (!action || event.defaultPrevented) return
      event.preventDefault()
      action(event)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [dialog, isGlobal])
}

function startsPair(name: string): boolean {
  return name === 'g'
}

// Remembered last, after every binding has looked: the first key of a pair.
if (typeof document !== 'undefined') {
  window.addEventListener('keydown', (event) => {
    if (event.key === 'Shift') return
    before = isTyping(event) ? '' : nameOf(event)
    at = Date.now()
  })
}

export function nameOf(event: KeyboardEvent): string {
  const parts: string[] = []
  if (event.ctrlKey || event.metaKey) parts.push('mod')
  if (event.shiftKey && (event.key.length > 1 || /[a-z]/i.test(event.key))) parts.push('Shift')
  parts.push(
    event.key.length === 1 && parts.length === 0
      ? event.key
      : event.key.length === 1
        ? event.key.toLowerCase()
        : event.key,
  )
  return parts.join('+')
}

function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null
  if (!target?.closest) return false
  return !!target.closest(
    'input, textarea, select, [contenteditable="true"], [role="dialog"], [role="menu"], [role="listbox"]',
  )
}
