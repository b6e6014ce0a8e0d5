#!/bin/sh
printf '[%s]' "$@" > args
