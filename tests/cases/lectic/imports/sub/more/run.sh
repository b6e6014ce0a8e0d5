#!/bin/sh
echo "$@" >words
