import { Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import type { OwnChannels } from '../../../ui/notify/ownRule'
import type { FormProps } from '../draft/taskDraft'
import { ArgumentList } from './arguments/ArgumentList'
import { ExecutionFields } from './ExecutionFields'
import { GeneralFields } from './GeneralFields'
import { NotifyFields, OptionFields } from './OptionFields'

interface Props extends FormProps {
  own: OwnChannels
  /** The script or its replacement. */
  main: ReactNode
  /** At the end of the fields. */
  children?: ReactNode
}

/** The fields of a task in the same order for a new and an existing one. */
export function TaskFields({ main, own, children, ...props }: Props) {
  const { type } = props.task
  const hasHost = type === 'script' || type === 'scraper'
  return (
    <div className="task-split">
      <Stack gap={12}>
        <GeneralFields {...props} />
        {hasHost ? <ExecutionFields {...props} /> : null}
        {type === 'notification' ? null : <ArgumentList {...props} />}
        <NotifyFields {...props} own={own} />
        <OptionFields {...props} />
        {children}
      </Stack>
      {main}
    </div>
  )
}
