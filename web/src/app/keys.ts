import { useLayoutEffect, useRef } from 'react'
import { prefs } from '../lib/prefs'

/** Keys to acts: 'r', 'Shift+R', 'mod+s', or two in a row: 'g j'. */
export type Keys = Record<string, (event: KeyboardEvent) => void>

const PAUSE_MS = 1200
let before = ''
let at = 0

/**
 * Binds keys while a component is on screen. Single keys are ignored while a person types, behind
 * a dialog, and when they are switched off; combinations with Ctrl or Cmd always work.
 */
export function useKeys(keys: Keys): void {
  const now = useRef(keys)
  now.current = keys
  // Before it is painted, so that everything visible handles keys.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      const name = nameOf(event)
      const isCombination = event.ctrlKey || event.metaKey
      if (!isCombination && (isTyping(event) || !prefs().keys || event.altKey)) return
      const pair = Date.now() - at < PAUSE_MS ? `${before} ${name}` : ''
      const action =
        now.current[pair] ?? (pair && startsPair(before) ? undefined : now.current[name])
      if (!action || event.defaultPrevented) return
      event.preventDefault()
      action(event)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
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
