import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { EditorProps } from './Editor'
import './editor.css'

const Editor = lazy(() => import('./Editor').then((module) => ({ default: module.Editor })))

/** A script to read or write. The editor itself is fetched when the first one is shown. */
export function CodeEditor(props: EditorProps) {
  return (
    <div className="editor" style={{ height: props.height ?? '100%', minHeight: props.minHeight }}>
      <Suspense fallback={<Skeleton height="100%" radius={0} />}>
        <Editor {...props} />
      </Suspense>
    </div>
  )
}
